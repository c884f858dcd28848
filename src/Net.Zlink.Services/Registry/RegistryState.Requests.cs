namespace Net.Zlink.Services;

/// <content>What senders ask, and who may: an entry belongs to who registered it.</content>
internal sealed partial class RegistryState
{
    /// <summary>Whether a request is to be put to the application's policy: what registers or changes, and what comes from who is not the
    /// owner. A repeat of what its connection registered was admitted already.</summary>
    public bool AsksAdmission(in RegistryRequest request, RegistrySender sender, out bool isOwner)
    {
        EntryOwners? owners = request.Fault is null ? _own.GetValueOrDefault(request.Entry)?.Registrants : null;
        bool isHeld = owners is not null;
        isOwner = owners is null || owners.Has(sender);
        return request.Fault is null && request.Id switch
        {
            MessageIds.Register => !isHeld || !owners!.IsRepeated(sender, request.Weight),
            MessageIds.UpdateWeight => isHeld && !owners!.IsRepeated(sender, request.Weight),
            MessageIds.Unregister => !isOwner,
            MessageIds.Heartbeat => isHeld && !owners!.Hears(sender) && sender.RefusedHeartbeat != request.Entry,
            _ => false,
        };
    }

    /// <summary>Whether <see cref="Handle"/> has to know which connections there are.</summary>
    public bool AsksConnections(in RegistryRequest request) => request.Id == MessageIds.Unregister
        && _own.TryGetValue(request.Entry, out TableEntry? entry) && entry.Registrants!.Count > 1;

    /// <summary>Gives the answer to a request, if there is one.</summary>
    /// <param name="now">The time.</param>
    /// <param name="request">The request.</param>
    /// <param name="sender">Who sent it.</param>
    /// <param name="admission">The application's decision.</param>
    /// <param name="connected">The routing ids and addresses of all connections, where <see cref="AsksConnections"/> says so.</param>
    public RegistryAck? Handle(TimeSpan now, in RegistryRequest request, RegistrySender sender,
        in RegistrationAdmission admission = default, IReadOnlySet<(RoutingId Id, string Address)>? connected = null)
    {
        RegistryAck? ack = request.Fault ?? request.Id switch
        {
            MessageIds.Register => Register(now, request, sender, admission),
            MessageIds.UpdateWeight => UpdateWeight(now, request, sender, admission),
            MessageIds.Unregister => Unregister(now, request, sender, admission, connected),
            MessageIds.Heartbeat => Heartbeat(now, request, sender, admission),
            _ => null,
        };
        _requests++;
        _malformed += request.Id == 0 || request.Fault is not null ? 1 : 0;
        if (ack is { Status: not AckStatus.Done } refusal)
        {
            _refused++;
            if (request.Fault is null && refusal.Status != AckStatus.NotFound)
            {
                ReportRefusal(now, request, sender, refusal.Error);
            }
        }

        return request.Id is MessageIds.Register or MessageIds.UpdateWeight ? ack : null;
    }

    private RegistryAck Register(TimeSpan now, in RegistryRequest request, RegistrySender sender, in RegistrationAdmission admission)
    {
        if (!admission.IsAccepted)
        {
            return new RegistryAck(admission.Status, admission.Reason!);
        }

        var asked = new ListedInstance(request.Entry.Endpoint, sender.Id, request.Weight);
        if (_own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            if (!entry.Registrants!.Add(now, sender, asked))
            {
                return RegistryAck.TooManyOwners;
            }

            ListNewest(now, entry);
            return RegistryAck.Done;
        }

        if (_own.Count >= settings.MaxEntries
            || (_table.Find(request.Entry) is null && !_table.CanAdd(request.Entry, asked, settings.MaxEntries)))
        {
            return RegistryAck.RegistryFull;
        }

        Sequence++;
        entry = _table.Set(request.Entry, asked, owner: null);
        (entry.RegisteredAt, entry.Registrants) = (now, new EntryOwners());
        entry.Registrants.Add(now, sender, asked);
        _own.Add(request.Entry, entry);
        _removals.Forget(request.Entry);
        Report(RegistryEventType.Registered, now, Id, request.Entry, asked);
        return RegistryAck.Done;
    }

    private RegistryAck UpdateWeight(TimeSpan now, in RegistryRequest request, RegistrySender sender, in RegistrationAdmission admission)
    {
        if (!_own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            return !_table.HasService(request.Entry.Service) ? RegistryAck.ServiceNotFound
                : _table.Find(request.Entry) is not null ? RegistryAck.ProviderNotLocal
                : RegistryAck.ProviderNotFound;
        }

        if (RefusalOf(admission, entry.Registrants!.Has(sender)) is { } refusal)
        {
            return refusal;
        }

        // In the native core only REGISTER and HEARTBEAT are signs of life; here an answered request is one, too.
        entry.Registrants.SetWeight(now, sender, request.Weight);
        ListNewest(now, entry);
        return RegistryAck.Done;
    }

    private RegistryAck? Unregister(TimeSpan now, in RegistryRequest request, RegistrySender sender, in RegistrationAdmission admission,
        IReadOnlySet<(RoutingId Id, string Address)>? connected)
    {
        if (!_own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            return null;
        }

        EntryOwners owners = entry.Registrants!;
        bool isOwner = owners.Has(sender);
        if (RefusalOf(admission, isOwner) is { } refusal)
        {
            return refusal;
        }

        if (isOwner)
        {
            owners.Remove(sender, connected);
        }

        if (!isOwner || owners.Count == 0)
        {
            Remove(now, request.Entry);
        }
        else
        {
            ListNewest(now, entry);
        }

        return null;
    }

    private RegistryAck? Heartbeat(TimeSpan now, in RegistryRequest request, RegistrySender sender, in RegistrationAdmission admission)
    {
        if (!_own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            return null;
        }

        bool isHeard = entry.Registrants!.Hears(sender);
        if (!isHeard && RefusalOf(admission, isOwner: false) is { } refusal)
        {
            sender.RefusedHeartbeat = request.Entry;
            return refusal;
        }

        entry.Registrants.Renew(now, sender);
        return null;
    }

    private static RegistryAck? RefusalOf(in RegistrationAdmission admission, bool isOwner) =>
        !admission.IsAccepted ? new RegistryAck(admission.Status, admission.Reason!)
        : !isOwner && !admission.IsForAnyone ? RegistryAck.NotOwner
        : null;

    /// <summary>The newest owner's instance is the row of the entry. An identical repeat changes no list, unlike in the native core: that
    /// is an answered heartbeat.</summary>
    private void ListNewest(TimeSpan now, TableEntry entry)
    {
        ListedInstance newest = entry.Registrants!.Newest;
        if (entry.Instance != newest)
        {
            Sequence++;
            _table.Set(entry.Key, newest, owner: null);
            Report(RegistryEventType.Updated, now, Id, entry.Key, newest);
        }
    }

    private void ReportRefusal(TimeSpan now, in RegistryRequest request, RegistrySender sender, string why)
    {
        if (sender.ReportsRefusal())
        {
            Report(RegistryEventType.Refused, now, Id, request.Entry,
                new ListedInstance(request.Entry.Endpoint, sender.Id, request.Weight),
                request.Id == MessageIds.Register ? why : $"{why}: {NameOf(request.Id)} of {sender}");
        }
    }

    private static string NameOf(ushort id) => id switch
    {
        MessageIds.UpdateWeight => "UPDATE_WEIGHT",
        MessageIds.Unregister => "UNREGISTER",
        _ => "HEARTBEAT",
    };
}
