using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink;

/// <summary>What all ZMP sockets of a context have done so far, by type: the living ones and those that are gone, so that a counter never goes back.</summary>
internal sealed class SocketTotals
{
    private readonly Dictionary<ZmpSocketType, (int Sockets, SocketStatistics Statistics)> _byType = [];

    public IEnumerable<(string Type, int Sockets, SocketStatistics Statistics)> ByType => _byType.Select(static p => (p.Key.Name, p.Value.Sockets, p.Value.Statistics));

    /// <summary>A copy that can be added to.</summary>
    public SocketTotals Copy()
    {
        var copy = new SocketTotals();
        foreach ((ZmpSocketType type, (int Sockets, SocketStatistics Statistics) total) in _byType)
        {
            copy._byType[type] = total;
        }

        return copy;
    }

    /// <summary>Adds a living socket.</summary>
    public void Add(ZlinkSocket socket) => Add(socket.Core.Type, 1, socket.GetStatistics());

    /// <summary>Adds a socket that is gone: nothing of it waits any more.</summary>
    public void AddGone(ZmpSocketType type, SocketStatistics last) => Add(type, 0, last with { Peers = 0, QueuedMessages = 0, UnreadMessages = 0 });

    private void Add(ZmpSocketType type, int sockets, SocketStatistics statistics)
    {
        (int before, SocketStatistics? sum) = _byType.TryGetValue(type, out (int Sockets, SocketStatistics Statistics) total) ? total : (0, SocketStatistics.Nothing);
        _byType[type] = (before + sockets, sum.Plus(statistics));
    }
}
