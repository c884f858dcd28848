namespace Net.Zlink.Services;

/// <summary>What comes by one connection: the user state of its messages. Only the dispatch loop touches it.</summary>
/// <param name="isIgnored">The same node is connected by another address: all of this comes there, too.</param>
internal sealed class PeerStream(bool isIgnored)
{
    private const int ChecksBetweenCleanups = 1024;

    private SpotGap? _gap;
    private HashSet<SubscriberQueue> _unaware = [];
    private SubscriberQueue[]? _aware;
    private int _checks;

    public bool IsIgnored { get; set; } = isIgnored;

    /// <summary>Some subscriber does not know of a gap yet.</summary>
    public bool HasGap => _gap is not null;

    public void Begin(SpotGap gap, SubscriberQueue[] subscribers)
    {
        _gap = gap;
        _unaware = [.. subscribers];
    }

    /// <summary>One of these does not know of the gap yet.</summary>
    public bool IsNewTo(SubscriberQueue[] subscribers)
    {
        if (ReferenceEquals(subscribers, _aware))
        {
            return false;
        }

        if (++_checks % ChecksBetweenCleanups == 0)
        {
            _unaware.RemoveWhere(static subscriber => subscriber.IsClosed);
        }

        if (Array.Exists(subscribers, _unaware.Contains))
        {
            return true;
        }

        _aware = subscribers;
        return false;
    }

    /// <summary>The message for one subscriber: the first one says what was missed before it.</summary>
    public SpotMessage For(SubscriberQueue subscriber, in SpotMessage message)
    {
        if (_gap is not { } gap || !_unaware.Remove(subscriber))
        {
            return message;
        }

        _gap = _unaware.Count == 0 ? null : gap;
        return message.After(gap);
    }
}
