namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>Texts that are nearly endpoints, and some that are nowhere near: pieces of endpoints in any order, with bytes between them.
/// None names a file.</summary>
internal static class EndpointNoise
{
    private static readonly string[] Pieces =
    [
        "tcp", "inproc", "udp", "pgm", "://", ":", "//", "127.0.0.1", "[::1]", "[", "]", "*", "0", "1", "65535", "65536", "-1",
            "99999999999", "@", ";", "%", "lo", " ", "\0", "ä", "\ud800", ".", "-",
    ];

    public static IEnumerable<string> Texts(int seed)
    {
        var random = new Random(seed);
        for (int i = 0; i < 300; i++)
        {
            int pieces = random.Next(0, 8);
            string text = i % 3 == 0 ? "" : "tcp://";
            for (int p = 0; p < pieces; p++)
            {
                text += random.Next(10) == 0 ? ((char)random.Next(1, 0x3000)).ToString() : Pieces[random.Next(Pieces.Length)];
            }

            yield return text;
        }
    }
}
