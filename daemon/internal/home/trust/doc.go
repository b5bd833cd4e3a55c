// Package trust judges whether root may rely on a file: a configuration, a folder
// of state, a program that is about to be started. It may where nobody but root
// can change the file, put another in its place, or lead the path elsewhere.
//
// [Check] walks the path from the root folder on, one name at a time and each
// below the folder that was opened before, so that what it judged is what the path
// leads to, whatever is renamed meanwhile. Symbolic links are followed by hand, and
// each folder that a link leads through is judged as well.
//
// It owns no facts and changes nothing. Access control lists of macOS are not
// looked at.
package trust
