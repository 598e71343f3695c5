// Nothing may follow `#endif`.
#ifndef A
#endif A
