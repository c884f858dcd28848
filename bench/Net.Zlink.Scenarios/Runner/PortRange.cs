using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>How many connections one address can make to one server: as many as the system has ports for it.</summary>
internal static class PortRange
{
    private const string File = "/proc/sys/net/ipv4/ip_local_port_range";

    /// <exception cref="RequestException">There are too few ports.</exception>
    public static void Check(int connections)
    {
        if (!System.IO.File.Exists(File))
        {
            return;
        }

        int[] ends = [.. System.IO.File.ReadAllText(File).Split(['\t', ' ', '\n'], StringSplitOptions.RemoveEmptyEntries)
            .Select(static end => int.Parse(end, CultureInfo.InvariantCulture))];
        int ports = ends[1] - ends[0] + 1;
        if (connections > ports)
        {
            throw new RequestException(string.Create(
                CultureInfo.InvariantCulture,
                $"{connections:N0} connections to one address need as many outgoing ports; the system has {ports:N0} ({ends[0]} to "
                    + $"{ends[1]}). Widen net.ipv4.ip_local_port_range, or take --ccu {ports}."));
        }
    }
}
