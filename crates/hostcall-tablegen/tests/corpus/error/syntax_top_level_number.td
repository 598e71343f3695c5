// A number begins no statement.
42
