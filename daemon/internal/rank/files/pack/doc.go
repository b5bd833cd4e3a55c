// Package pack is the sending end of a copied folder: the program of the hidden
// subcommand `fulmend pack`, which runs as the person whose folder it is and can
// read no more than that person.
//
// It leaves out what .gitignore files exclude, .git always, and .venv,
// __pycache__ and node_modules where no .gitignore file takes them back with a
// pattern like !.venv. Links that lead out of the folder end it with the link's
// name; what is neither a file nor a folder nor a link is left out.
package pack
