// Package smallfile writes small files whole without another file beside them:
// making, renaming and removing one costs a file system many times what it
// costs to write the text.
//
// It relies on one property of the kernels: what a write call copies into one
// page it has copied or not, whenever the process is killed. A file is therefore
// at any moment empty, as it was, or as it is to be; empty says that its maker
// was killed between making and writing it. None of this is about power cuts.
package smallfile
