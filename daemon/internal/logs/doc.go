// Package logs makes the loggers of the daemon's parts, each with a level of its own that
// changes while the daemon runs, over a file that is begun anew when it is full. The end
// of the log is kept in memory for those who read it through the API.
package logs
