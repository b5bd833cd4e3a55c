// Package jobfile reads what a job is to be from a TOML file: the fields of
// api.JobRequest by their names, nodes by the names that people use. Whatever is
// not one of these fields, or has another type, is an error with its line.
package jobfile
