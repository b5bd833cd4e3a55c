// Package deeplink reads the fulmen: addresses by which a page, such as the
// dashboard, asks the app for what only an administrator may do. Any page can
// make one, and a browser opens it after one click. So an address names a method
// and things that have ids, carries no text that a person would read and no code
// that would be believed, and is refused as a whole where anything in it is not
// known. What it asks for is asked of the person again, in the app's own words,
// which [fulmen/app.State.Asked] makes.
package deeplink
