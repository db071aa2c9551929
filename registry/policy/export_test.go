package policy

// Chains returns how many chains there are of agents that are pointers, and of others.
func (p *Reminder) Chains() (weak, named int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.chains.weak), len(p.chains.named)
}
