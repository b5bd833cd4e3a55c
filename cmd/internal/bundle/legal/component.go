package legal

// Component is something of others that is a part of what is shipped.
type Component struct {
	// Name is its module path, or the name of its wheel.
	Name string
	// Version is the version of it, without a letter before it.
	Version string
	// URL is its package URL (purl), by which lists of materials name it.
	URL string
	// SHA256 is that of the file it came in; empty where that is not known.
	SHA256 string
	// Licence is the licence's short name by SPDX.
	Licence string
	// Texts are its licence files with their notices, in order of their names.
	Texts []string
}
