// Command run is `make run`: it starts the daemon in the foreground, in a
// folder of its own under build/, has it measure this machine, shows what came
// out, and then the machine's state as it moves, until Ctrl-C. With -once it
// ends after the measurements.
package main
