// Package view owns what is derived from the documents of all nodes, as clients see it:
// the graph of cables and paths ([Graph]), who is there ([Nodes]), what is wrong
// ([Shown]), what happened ([Events]), and the documents themselves ([State]). It reads
// the ledger, and publishes no documents: it calls those who follow it.
package view
