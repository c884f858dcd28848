namespace Net.Zlink.Services;

/// <summary>Who registered one entry. The newest owner's instance is listed; the entry goes with its last owner.</summary>
/// <remarks>
/// Usually there is one. A second one registered the same endpoint from elsewhere (an address that several share), or is the next process
/// of a receiver whose last one is not known to have ended.
/// </remarks>
internal sealed class EntryOwners
{
    // More are a mistake or an attack: each costs memory, and only the newest is listed.
    private const int MaxOwners = 8;

    // From the oldest to the newest.
    private readonly List<Owner> _owners = new(1);

    public int Count => _owners.Count;

    public ListedInstance Newest => _owners[^1].Instance;

    public TimeSpan LastSign => _owners[^1].LastSign;

    public IEnumerable<RegistrySender> Senders => _owners.Select(static owner => owner.Sender);

    /// <summary>Whether it may change the entry.</summary>
    public bool Has(RegistrySender sender) => _owners.Exists(owner => sender.Is(owner.Sender));

    /// <summary>Whether its heartbeats count: also those under another id from an owner's address, as native receivers may send
    /// them.</summary>
    public bool Hears(RegistrySender sender) => _owners.Exists(owner => IsHeard(sender, owner));

    /// <summary>Whether that connection has registered just this: then it says nothing new, and was admitted.</summary>
    public bool IsRepeated(RegistrySender sender, uint weight) =>
        _owners.Exists(owner => ReferenceEquals(owner.Sender, sender) && owner.Instance.Weight == weight);

    /// <summary>Takes a registration. An owner stays where it is in the order.</summary>
    /// <returns>False: there are too many owners from elsewhere.</returns>
    public bool Add(TimeSpan now, RegistrySender sender, ListedInstance instance)
    {
        int index = _owners.FindIndex(owner => sender.IsAtPlaceOf(owner.Sender) && owner.Sender.Id == sender.Id);
        if (index >= 0)
        {
            _owners[index] = new Owner(sender, instance, now);
            return true;
        }

        if (_owners.Count >= MaxOwners)
        {
            int oldest = _owners.FindIndex(owner => sender.IsAtPlaceOf(owner.Sender));
            if (oldest < 0)
            {
                return false;
            }

            _owners.RemoveAt(oldest);
        }

        _owners.Add(new Owner(sender, instance, now));
        return true;
    }

    /// <summary>Changes the weight of what that owner registered; for one that is no owner, the newest's.</summary>
    public void SetWeight(TimeSpan now, RegistrySender sender, uint weight)
    {
        int index = _owners.FindLastIndex(owner => sender.Is(owner.Sender));
        index = index < 0 ? _owners.Count - 1 : index;
        Owner owner = _owners[index];
        _owners[index] = owner with { Instance = owner.Instance with { Weight = weight }, LastSign = now };
    }

    /// <summary>A heartbeat: of that owner alone, else of all at its address; of a stranger that was admitted, of all.</summary>
    public void Renew(TimeSpan now, RegistrySender sender)
    {
        Predicate<Owner> renewed = _owners.Exists(IsItself) ? IsItself : Hears(sender) ? owner => IsHeard(sender, owner) : _ => true;
        Change(owner => renewed(owner) ? owner with { LastSign = now } : owner);

        bool IsItself(Owner owner) => owner.Sender.Id == sender.Id && IsHeard(sender, owner);
    }

    /// <summary>
    /// Ends the ownership of a sender, and of those at its place whose connection has ended: they are its former processes.
    /// </summary>
    /// <param name="sender">One that <see cref="Has"/>.</param>
    /// <param name="connected">The routing ids and addresses of all connections. Null: no connection has ended.</param>
    public void Remove(RegistrySender sender, IReadOnlySet<(RoutingId Id, string Address)>? connected)
    {
        bool isListed = _owners.Exists(owner => sender.Is(owner.Sender) && owner.Sender.Id == sender.Id);
        _owners.RemoveAll(owner => sender.IsAtPlaceOf(owner.Sender)
            && (isListed ? owner.Sender.Id == sender.Id : sender.Is(owner.Sender)));
        _owners.RemoveAll(owner => sender.IsAtPlaceOf(owner.Sender)
            && connected?.Contains((owner.Sender.Id, owner.Sender.Address)) == false);
    }

    /// <summary>Removes owners whose last sign of life is older.</summary>
    public void Expire(TimeSpan before) => _owners.RemoveAll(owner => owner.LastSign < before);

    /// <summary>Moves all signs of life, to no later than now.</summary>
    public void Postpone(TimeSpan now, TimeSpan by) =>
        Change(owner => owner with { LastSign = owner.LastSign + by < now ? owner.LastSign + by : now });

    private static bool IsHeard(RegistrySender sender, Owner owner) =>
        sender.IsAtPlaceOf(owner.Sender) || string.Equals(sender.Address, owner.Sender.Address, StringComparison.Ordinal);

    private void Change(Func<Owner, Owner> change)
    {
        for (int i = 0; i < _owners.Count; i++)
        {
            _owners[i] = change(_owners[i]);
        }
    }

    private readonly record struct Owner(RegistrySender Sender, ListedInstance Instance, TimeSpan LastSign);
}
