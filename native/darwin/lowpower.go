package darwin

import "fulmen/native"

// powerSettingsKey is where the dynamic store has the power settings of the source
// in use, and lowPowerKey the mode in them: 0 automatic, 1 low, 2 high.
const (
	powerSettingsKey = "State:/IOKit/PowerManagement/CurrentSettings"
	lowPowerKey      = "LowPowerMode"
	lowPowerLow      = 1
)

// setLowPower asks twice, since Apple documents neither for programs without a
// user's session (NSProcessInfo, which it does document, is Foundation's).
//
// The state of com.apple.system.lowpowermode is what NSProcessInfo reads: several
// of Apple's own programs do likewise, and it follows the automatic mode of a low
// battery. But a name that nobody ever set has the state 0 too, so 0 alone does not
// say that there is such a mode. The key of the settings is in Apple's published
// sources; that its numbers are those of pmset powermode is said by public
// programs alone, and not yet seen by us on a Mac (docs/macos-checklist.md). So on
// is what either says, off what the settings have and neither calls on.
func (m *machine) setLowPower(s *native.System) {
	state, stateErr := m.meters.LowPower()
	settings, err := m.meters.PowerSettings()
	value, hasMode := listMap(settings[powerSettingsKey])[lowPowerKey]
	mode, isNumber := value.(int64)
	switch {
	case stateErr == nil && state != 0, isNumber && mode == lowPowerLow:
		s.LowPowerMode = new(true)
	case isNumber && mode >= 0 && mode <= 2 && stateErr == nil:
		s.LowPowerMode = new(false)
	case hasMode && stateErr == nil:
		s.Unknown.Add("low_power_mode", native.ReasonSourceMalformed.With(lowPowerKey))
	case err != nil:
		s.Unknown.Add("low_power_mode", whyNot(err))
	case stateErr != nil:
		s.Unknown.Add("low_power_mode", whyNot(stateErr))
	default:
		s.Unknown.Add("low_power_mode", native.ReasonNoHardware.With("the power settings have no "+lowPowerKey))
	}
}
