// Package transfer copies a model from the Hugging Face cache of an account on one Mac to
// that of an account on another. It is the program of the hidden subcommands
// `fulmend models-send` and `fulmend models-receive`, which run as these accounts: neither
// opens anything that its account could not.
//
// They exchange frames of package wire. The sender begins:
//
//	sender                                receiver
//	model (repository, revision, refs, sizes)
//	files...
//	                                      ask (a chunk of a file, or its hash)...
//	for each, in order:
//	  chunk (size, SHA-256), data...
//	  or hashes (one); before either, waiting
//	                                      thanks
//
// Either may send refused at any time, and that ends it. The receiver has up to four
// requests under way, so that a long path is full: while one chunk is written the next
// ones are on their way, and the sender reads and hashes beyond that.
//
// What arrives is written to a file of a name that neither Hugging Face's own programs nor
// anybody else takes for a whole one, a chunk at a time once its hash is right. A file
// takes its place when all of it has its hash. The snapshot appears when all files are
// there, and the refs last. So a copy that is cut leaves what it has for the next one,
// and nobody ever sees a model of which a part lacks. Only who copies it on does: the list of
// a model that arrives is beside its files, and a sender waits for what is not there yet.
package transfer
