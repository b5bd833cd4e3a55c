//go:build !cgo || !(darwin || (linux && darwinsim))

package darwin

import "time"

func systemAuthorizations() authorizations { return noFrameworks{} }

func (noFrameworks) defineRight(string, time.Duration) error   { return errNoFrameworks }
func (noFrameworks) checkRight(string, [formLength]byte) error { return errNoFrameworks }
