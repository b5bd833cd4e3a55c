// Package simfw is a small simulation of the frameworks of macOS that
// native/darwin calls: CoreFoundation, IOKit, SystemConfiguration, and what else
// its C files need. It is built for Linux, with the tag darwinsim, and is no part
// of any program: with it the C files of native/darwin run where there is no Mac,
// under the address and leak sanitizers.
//
// A [Machine] is what one Mac's kernel and configd would be. Whoever made it
// changes its registry, its configuration and its power, and the frameworks tell
// native/darwin of it as a Mac does: notifications are silent until their iterator
// is empty, handles differ at every look, iterators are torn by changes, messages
// arrive for what has gone. Faults can be armed. What is allocated is counted, and
// every use of what is not there is noted.
//
// It follows what Apple documents and what its open sources show; where it had to
// assume, docs/macos-checklist.md says what is to be looked at on a Mac.
package simfw
