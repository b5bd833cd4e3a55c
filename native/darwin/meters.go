package darwin

// meters are readings of load, power and heat. They are taken only while somebody
// reads the area: none of them announces anything.
type meters interface {
	// Pages counts the kernel's pages of memory by state, with "page_size".
	Pages() (map[string]any, error)
	// Ticks are the processors' since the start: user, system, idle, nice.
	Ticks() (map[string]any, error)
	// PowerSource is what the machine runs on: "type", and "sources", maps of
	// "Type", "Current Capacity" and "Max Capacity".
	PowerSource() (map[string]any, error)
	// ThermalPressure is the system's level, 0 being none.
	ThermalPressure() (uint64, error)
	// LowPower is the announced state of low-power mode, 0 also where there is none.
	LowPower() (uint64, error)
	// PowerSettings has under powerSettingsKey those of the source in use.
	PowerSettings() (map[string]any, error)
	// Energy reads the counters of power and of the GPU's states since the last
	// reading, an array of channels; nil from the first. Sensors reads temperatures,
	// fans and power.
	Energy() ([]any, error)
	Sensors() (map[string]any, error)
	// Temperatures are those of the HID services, maps of "name" and "celsius".
	Temperatures() ([]any, error)
	// Rest closes what readings keep open between them; the next opens it again.
	Rest()
}

// noMeters is a build without C.
type noMeters struct{}

func (noMeters) Pages() (map[string]any, error)         { return nil, errNoFrameworks }
func (noMeters) Ticks() (map[string]any, error)         { return nil, errNoFrameworks }
func (noMeters) PowerSource() (map[string]any, error)   { return nil, errNoFrameworks }
func (noMeters) ThermalPressure() (uint64, error)       { return 0, errNoFrameworks }
func (noMeters) LowPower() (uint64, error)              { return 0, errNoFrameworks }
func (noMeters) PowerSettings() (map[string]any, error) { return nil, errNoFrameworks }
func (noMeters) Temperatures() ([]any, error)           { return nil, errNoFrameworks }
func (noMeters) Energy() ([]any, error)                 { return nil, errNoFrameworks }
func (noMeters) Sensors() (map[string]any, error)       { return nil, errNoFrameworks }
func (noMeters) Rest()                                  {}
