// Package menubar is the menu-bar app without a screen: it follows the daemon,
// draws the menu when something changed, does what is clicked, and tells what is
// worth a notification. What a system offers a person (dialogs, notifications,
// the clipboard, the login item) is a Shell, and what shows the menu a Screen.
//
// An App owns the person's preferences, which it keeps in a file, and the menu that is
// shown. It reads the state from package live, and publishes the menu to its Screen.
package menubar
