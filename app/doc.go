// Package app is the menu of the menu-bar app as a pure function of the
// cluster's state: items, titles, what is enabled and checked. It draws
// nothing and knows no system; app/tray draws it, app/mac shows dialogs and
// notifications.
package app
