package app

// Hold is next as it may be drawn over a menu that somebody reads: no line
// changes its place. Lines that are there still are brought up to date, lines
// that are gone stay as they were and can no longer be clicked, and new ones
// wait until the menu is opened again; icon and title tell of them. What
// Hold gives is what is shown from then on.
func Hold(shown, next Menu) Menu {
	next.Items = holdItems(shown.Items, next.Items)
	return next
}

func holdItems(shown, next []Item) []Item {
	fresh := make(map[string]Item, len(next))
	for _, i := range next {
		fresh[i.ID] = i
	}
	held := make([]Item, 0, len(shown))
	for _, i := range shown {
		now, is := fresh[i.ID]
		switch {
		case !is:
			now = gone(i)
		case len(i.Items) > 0 != (len(now.Items) > 0):
			// A line does not become a submenu under the pointer, nor the other way.
			now = gone(i)
		default:
			now.Items = holdItems(i.Items, now.Items)
		}
		held = append(held, now)
	}
	return held
}

// gone is a line that nothing is behind any more.
func gone(i Item) Item {
	if i.IsSeparator() {
		return i
	}
	i.Disabled, i.Do = true, nil
	items := make([]Item, 0, len(i.Items))
	for _, below := range i.Items {
		items = append(items, gone(below))
	}
	i.Items = items
	return i
}
