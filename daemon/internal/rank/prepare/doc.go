// Package prepare makes sure that a job finds the same program on every node. It
// finds the command, the directory, the interpreter and the environment that a
// spec means on this node, says what is missing, compares the nodes' answers, and
// runs the command that prepares a node: [Preparer]. [Programs] does that for jobs, and has
// their folders brought here by package files.
//
// Nothing here opens a path that came from a spec or lies in somebody's home:
// that happens in processes of the account (asuser starts them, look is what they
// do). What is pure lies here: where a path of the submitter is on this node
// ([Place]), which variables a rank gets, and what differs ([Compare]).
package prepare
