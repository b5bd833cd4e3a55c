// Package bundle tells a person who throws the app away from one who replaces it
// by a newer one. On macOS both begin alike: the bundle that this daemon was started
// from is gone.
//
// [Next] is the rule, and takes the time as a parameter. [Watch] looks at the
// bundle's folder when something changes beside it, and asks the rule. Nothing is
// polled: the only timer is that which ends the minute.
package bundle
