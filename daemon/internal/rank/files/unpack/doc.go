// Package unpack is the receiving end of a copied folder: the program of the
// hidden subcommand `fulmend unpack`, which runs as the account that the copy is
// for.
//
// What arrives is gathered beside the copy and checked; only when all of it is
// there are the files put in place, one rename each. A connection that is cut
// changes nothing of the copy, and what had arrived is not sent again. What is
// not in the list any more goes; what the account's programs made in the copy
// stays. All names are resolved below the area, whatever the sender says and
// whatever links lie there.
//
// An area holds the copy and, in the folder .state, what belongs to it.
package unpack
