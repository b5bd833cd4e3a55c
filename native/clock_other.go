//go:build !linux && !(darwin && cgo)

package native

import "time"

func systemBoot() (func() time.Duration, error) {
	return nil, Unsupported(FeatureClock, ReasonNoPlatform.With("this build has no clock that counts sleep"))
}
