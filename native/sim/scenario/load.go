package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// The keys of what a Mac does at the moment, in its file and of set.
const (
	keyGPUUse  = "gpu_use"
	keyWatts   = "watts"
	keyCelsius = "celsius"
)

// mostOf is the largest value of such a key: more than any Mac can.
func mostOf(key string) float64 {
	switch key {
	case keyGPUUse:
		return 1
	case keyCelsius:
		return 120
	}
	return 1000
}

// readLoad reads one of them; nil where the file does not say.
func readLoad(t *table, key string) *float64 {
	value, ok := t.lookup(key)
	if !ok {
		return nil
	}
	number, isNumber := value.(float64)
	if whole, isWhole := value.(int64); isWhole {
		number, isNumber = float64(whole), true
	}
	if !isNumber || !(number >= 0 && number <= mostOf(key)) {
		t.fail(key, "%s = %s is no number from 0 to %g", key, show(value), mostOf(key))
		return nil
	}
	return &number
}

// ParseLoad reads the value of such a key of set.
func ParseLoad(key, text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || value > mostOf(key) {
		return 0, fmt.Errorf("%.40q is no number from 0 to %g", text, mostOf(key))
	}
	return value, nil
}
