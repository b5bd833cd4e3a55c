// Package config owns the configuration: which keys there are, what they may be
// and are by default, how the file is read, changed and watched.
//
// The file is TOML and read strictly. A key that is not known, or a value that
// is not allowed, is an error with line and column that names the nearest key
// (packages tomltext and nearest of native know where things stand and what was meant).
//
// [Live] keeps the configuration in force. A saved file is read at once, by
// events of its folder. If anything is wrong with it the configuration stays what it
// was, and [Status] says why. Keys that need a restart keep their value until then.
//
// [Edit] changes keys in the text and leaves everything else of it as it is.
// [Fields] is the table that all of this, the example and docs/configuration.md
// are made from.
package config
