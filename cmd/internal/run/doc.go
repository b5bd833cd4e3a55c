// Command run is `make run`: it starts the MLX worker on this machine's
// hardware, shows its progress, and prints what it measured. With -once it
// ends after that; otherwise it measures again every minute until Ctrl-C.
package main
