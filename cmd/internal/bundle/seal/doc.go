// Package seal makes and checks the list of a bundle's files that its signature
// vouches for (Contents/_CodeSignature/CodeResources), and signs a bundle ad hoc.
//
// What is in the list is Apple's rule, from the documentation of bundles and of
// codesign: programs in MacOS by what their own signature hashes to, everything
// else by its content; Info.plist and the program that the bundle is started by
// are vouched for in that program's signature itself.
package seal
