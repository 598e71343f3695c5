//! What a kernel links: calls, print, files, time, heap and panics for code that runs on a GPU or in the simulator.
