//go:build !darwin

package pack

// privacyProtects says that EPERM comes from the system's protection of privacy.
const privacyProtects = false
