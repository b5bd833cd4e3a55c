//go:build !darwin

package systemprofiler

// program is empty where the command does not exist.
const program = ""
