using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>A listener is found by its text without a search, so thousands can be unbound one by one.</summary>
internal sealed class BoundListeners<T>
    where T : class
{
    private readonly Dictionary<T, Bound> _all = [];
    private readonly ListsByKey<string, T> _byText = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, T> _byEndpoint = new(StringComparer.Ordinal);

    public IEnumerable<T> All => _all.Keys;

    public void Add(T owner, string text, ITransportListener listener)
    {
        var bound = new Bound(owner, text, listener, listener.Endpoint);
        _all.Add(owner, bound);
        _byText.Add(text, owner);
        _byEndpoint.Add(bound.Endpoint, owner);
    }

    public bool Remove(T owner)
    {
        if (!_all.RemoveAndTrim(owner, out Bound? bound))
        {
            return false;
        }

        _byText.Remove(bound.Text, owner);
        _byEndpoint.Remove(bound.Endpoint, owner);
        return true;
    }

    public T[] RemoveAll()
    {
        T[] all = [.. _all.Keys];
        Array.ForEach(all, owner => Remove(owner));
        return all;
    }

    public bool Has(string endpoint) => _byEndpoint.Has(endpoint);

    public Candidates Find(string text, WireEndpoint? target)
    {
        T[] named = _byEndpoint.Of(text);

        Bound[] others = named.Length > 0 || target is null ? [] : [.. _all.Values];
        return new Candidates(target, [.. _byText.Of(text).Union(named)], others);
    }

    public sealed class Candidates(WireEndpoint? target, T[] named, Bound[] others)
    {
        /// <summary>May look up a name: call it without a lock.</summary>
        public List<T> Meant() => [.. named.Union(others.Where(one => target!.Names(one.Listener)).Select(static one => one.Owner))];
    }

    public sealed record Bound(T Owner, string Text, ITransportListener Listener, string Endpoint);
}
