using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class SocketTotals
{
    private readonly Dictionary<ZmpSocketType, SocketSums> _byType = [];

    public IEnumerable<(string Type, int Sockets, SocketStatistics Statistics)> ByType =>
        _byType.Select(static p => (p.Key.Name, p.Value.Sockets, p.Value.ToStatistics()));

    public SocketTotals Copy()
    {
        var copy = new SocketTotals();
        foreach ((ZmpSocketType type, SocketSums sums) in _byType)
        {
            copy.Of(type).Add(sums);
        }

        return copy;
    }

    public void Add(SocketCore core) => Of(core.Type).Add(core.Counters, core.LinkCount);

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
