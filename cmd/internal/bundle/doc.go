// Command bundle makes Fulmen.app and what is published of it: the app, its
// signature, Apple's notarization, the disk image, the package for Macs without
// a screen, the recipe for Homebrew, checksums and the list of materials.
//
//	bundle app          build the programs and put the app together; signed ad hoc
//	bundle sign         sign it with a Developer ID
//	bundle notarize     have Apple look at it, or at the files that are named
//	bundle dmg          make the disk image
//	bundle pkg          make the package
//	bundle papers       list materials and checksums, and write the cask
//	bundle release      all of it in order
//	bundle check APP    say what is wrong with an app; works on every system
//
// With -dry the commands are printed and not run. What a machine lacks is said
// at once, each with its remedy.
package main
