using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The listeners of one socket, found by the texts that an unbind may use. Not thread-safe: its owner has a lock.</summary>
/// <remarks>A listener is found by its text without a search, so thousands can be unbound one by one.</remarks>
internal sealed class BoundListeners<T>
    where T : class
{
    private readonly Dictionary<T, Bound> _all = [];
    private readonly ListsByKey<string, T> _byText = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, T> _byEndpoint = new(StringComparer.Ordinal);

    public IEnumerable<T> All => _all.Keys;

    /// <param name="owner">The socket's object for it.</param>
    /// <param name="text">The endpoint as given to Bind.</param>
    /// <param name="listener">The transport's object, which knows the resolved endpoint.</param>
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

    /// <summary>An endpoint is bound here, in its resolved form.</summary>
    public bool Has(string endpoint) => _byEndpoint.Has(endpoint);

    /// <summary>Finds the listeners that a text may mean.</summary>
    /// <param name="text">The text.</param>
    /// <param name="target">The parsed text, or null if it cannot be bound.</param>
    public Candidates Find(string text, BindTarget? target)
    {
        T[] named = _byEndpoint.Of(text);

        // A resolved endpoint is numeric and unique, so no other names need a lookup.
        Bound[] others = named.Length > 0 || target is null ? [] : [.. _all.Values];
        return new Candidates(target, [.. _byText.Of(text).Union(named)], others);
    }

    /// <summary>The listeners with this text, and the others that the same text may mean.</summary>
    public sealed class Candidates(BindTarget? target, T[] named, Bound[] others)
    {
        /// <summary>May look up a name: call it without a lock.</summary>
        public List<T> Meant() => [.. named.Union(others.Where(one => target!.Names(one.Listener)).Select(static one => one.Owner))];
    }

    public sealed record Bound(T Owner, string Text, ITransportListener Listener, string Endpoint);
}
