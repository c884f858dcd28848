using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The listeners of one socket, to be found by what an unbind may call them. Not safe for several threads: its owner has a
/// lock.</summary>
/// <remarks>Nobody looks at all of them for one that is named as it was bound, so that thousands can be unbound one by one.</remarks>
internal sealed class BoundListeners<T>
    where T : class
{
    private readonly Dictionary<T, Bound> _all = [];
    private readonly ListsByKey<string, T> _byText = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, T> _byEndpoint = new(StringComparer.Ordinal);

    public IEnumerable<T> All => _all.Keys;

    /// <param name="owner">The socket's side of it.</param>
    /// <param name="text">The endpoint as it was given to Bind.</param>
    /// <param name="listener">The transport's side, which knows what the system filled in.</param>
    public void Add(T owner, string text, ITransportListener listener)
    {
        var bound = new Bound(owner, text, listener, listener.Endpoint);
        _all.Add(owner, bound);
        _byText.Add(text, owner);
        _byEndpoint.Add(bound.Endpoint, owner);
    }

    /// <summary>False if it is not there.</summary>
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

    /// <summary>Takes out all of them.</summary>
    public T[] RemoveAll()
    {
        T[] all = [.. _all.Keys];
        Array.ForEach(all, owner => Remove(owner));
        return all;
    }

    /// <summary>Whether one is bound to that endpoint, with what the system filled in.</summary>
    public bool Has(string endpoint) => _byEndpoint.Has(endpoint);

    /// <summary>Who may be meant by a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="target">The same, parsed; null: it is none that could be bound.</param>
    public Candidates Find(string text, BindTarget? target)
    {
        T[] named = _byEndpoint.Of(text);

        // An endpoint as the system filled it in is in numbers, and nobody else has these: no other name of them need be looked for.
        Bound[] others = named.Length > 0 || target is null ? [] : [.. _all.Values];
        return new Candidates(target, [.. _byText.Of(text).Union(named)], others);
    }

    /// <summary>Those that bear a text, and those that may be meant by it all the same.</summary>
    public sealed class Candidates(BindTarget? target, T[] named, Bound[] others)
    {
        /// <summary>Those that are meant. May look a name up: call it without a lock.</summary>
        public List<T> Meant() => [.. named.Union(others.Where(one => target!.Names(one.Listener)).Select(static one => one.Owner))];
    }

    /// <summary>One of them.</summary>
    public sealed record Bound(T Owner, string Text, ITransportListener Listener, string Endpoint);
}
