// What functions here return beside IOKit's and the system's own errors, which
// are passed on as they are: 0, or one of these.
#ifndef FULMEN_DARWIN_RESULT_H
#define FULMEN_DARWIN_RESULT_H

enum {
	FULMEN_OK = 0,
	FULMEN_TORN = -1,      // the registry changed under every attempt to walk it
	FULMEN_TOO_LARGE = -2, // more entries, or deeper, than any Mac has
	FULMEN_MEMORY = -3,    // an allocation failed, or the buffer's limit
	FULMEN_GONE = -4,      // there is no such thing (any more)
	FULMEN_NO_SYMBOL = -5, // this system has no such function
	FULMEN_STALE = -6,     // somebody else changed what it was based on
	FULMEN_EXISTS = -7,    // what would be made is there already
	FULMEN_REFUSED = -8,   // the system refused; the detail says more
};

#endif
