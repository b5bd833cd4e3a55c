// Package app is the menu of the menu-bar app as a pure function of the
// cluster's state: [Build] makes the items, their titles, what is enabled and
// checked, and what a click does. [Hold] keeps a menu still while somebody reads
// it, and [Notifier] decides what is worth a notification. The package draws
// nothing and knows no system; app/tray draws the menu, app/mac shows dialogs
// and notifications.
//
// Trouble comes first, then the person's own work, then the Macs.
package app
