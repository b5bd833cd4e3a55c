// Package view follows what is derived from the documents of all nodes, and shows it to
// clients: the graph of cables and paths ([Graph]), who is there ([Nodes]), what is wrong
// ([Shown]), what happened ([Events]), and the documents themselves ([State]). It writes
// nothing but what it is given to tell.
package view
