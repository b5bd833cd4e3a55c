package darwin

// Options says what New cannot find out. The zero value is this Mac.
type Options struct {
	// Units is the folder of the records of supervised units and of their
	// property lists, private to one daemon: a daemon removes units that it finds
	// there and does not know. Empty is /var/run/fulmen/units for root, else
	// Library/Caches/Fulmen/units in the account's home.
	Units string
	// Verbs are the arguments with which this program is a child that calls [AnswerVerbs];
	// none: the library is asked in this process.
	Verbs []string
}
