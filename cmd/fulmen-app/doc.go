// Command fulmen-app is the menu-bar app. It is a client of the daemon like any
// other: it shows the cluster, does what is clicked, and can be quit without
// anything else ending.
package main
