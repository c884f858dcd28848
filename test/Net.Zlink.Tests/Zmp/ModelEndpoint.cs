using System.Security.Cryptography;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Endpoints that can be connected before they are bound, and bound again, without meeting any other test's.</summary>
internal static class ModelEndpoint
{
    public static string Of(string transport) => transport switch
    {
        "inproc" => "inproc://model", // each test has a context of its own
        "ipc" => $"ipc://{Path.Combine(Path.GetTempPath(), $"zlink-{Guid.NewGuid():N}")}",

        // An address of its own within loopback: its ports are free, and stay so while nobody is bound.
        _ => $"tcp://127.{RandomNumberGenerator.GetInt32(1, 255)}.{RandomNumberGenerator.GetInt32(256)}."
            + $"{RandomNumberGenerator.GetInt32(1, 255)}:{RandomNumberGenerator.GetInt32(10_000, 30_000)}",
    };
}
