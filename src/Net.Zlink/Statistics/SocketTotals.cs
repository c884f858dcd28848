using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>What all ZMP sockets of a context have done so far, by type: the living ones and those that are gone, so that a counter never
/// goes back. Not for several threads at once.</summary>
internal sealed class SocketTotals
{
    private readonly Dictionary<ZmpSocketType, SocketSums> _byType = [];

    /// <summary>Each type that there is or was a socket of.</summary>
    public IEnumerable<(string Type, int Sockets, SocketStatistics Statistics)> ByType =>
        _byType.Select(static p => (p.Key.Name, p.Value.Sockets, p.Value.ToStatistics()));

    /// <summary>A copy that can be added to.</summary>
    public SocketTotals Copy()
    {
        var copy = new SocketTotals();
        foreach ((ZmpSocketType type, SocketSums sums) in _byType)
        {
            copy.Of(type).Add(sums);
        }

        return copy;
    }

    /// <summary>Adds a living socket.</summary>
    public void Add(SocketCore core) => Of(core.Type).Add(core);

    /// <summary>Adds what sockets of a type did that are gone.</summary>
    public void Add(ZmpSocketType type, SocketSums gone) => Of(type).Add(gone);

    private SocketSums Of(ZmpSocketType type)
    {
        if (!_byType.TryGetValue(type, out SocketSums? sums))
        {
            _byType.Add(type, sums = new SocketSums());
        }

        return sums;
    }
}
