using System.Text;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>What is given any bytes: a parser, or a whole session. An input may make it refuse, not throw; where bytes come in pieces, the
/// result does not depend on the cuts.</summary>
internal abstract class FuzzTarget : IDisposable
{
    // What the oracles need themselves. A length that a peer only announces is far more.
    private const long AllocationsOfAny = 3 * 1024 * 1024;
    private const long AllocationsPerByte = 8 * 1024;

    private static readonly SortedDictionary<string, Func<FuzzTarget>> s_all = new(StringComparer.Ordinal)
    {
        ["zmp"] = static () => new ZmpTarget(),
        ["stream"] = static () => new StreamTarget(),
        ["upgrade-request"] = static () => new UpgradeRequestTarget(),
        ["upgrade-answer"] = static () => new UpgradeAnswerTarget(),
        ["websocket"] = static () => new WebSocketTarget(),
        ["envelope"] = static () => new EnvelopeTarget(),
        ["service-list"] = static () => new ServiceListTarget(),
        ["registry"] = static () => new RegistryTarget(),
        ["accepting"] = static () => new SessionTarget(dials: false),
        ["dialling"] = static () => new SessionTarget(dials: true),
    };

    private Coverage? _coverage;

    protected BufferPool Pool { get; } = new();

    public static string[] Names => [.. s_all.Keys];

    /// <summary>Good inputs, from which others are made.</summary>
    public abstract IEnumerable<byte[]> Seeds { get; }

    /// <summary>What a mutation inserts: numbers and names of the protocol.</summary>
    public virtual byte[][] Words => [];

    public static FuzzTarget Create(string name, Coverage? coverage = null)
    {
        FuzzTarget target = s_all[name]();
        target._coverage = coverage;
        return target;
    }

    /// <exception cref="Exception">The input has shown a fault.</exception>
    public void Run(byte[] input)
    {
        long most = AllocationsOfAny + (AllocationsPerByte * input.Length);
        if (Allocated(input) > most)
        {
            // Not a table that grows once in a while, but the input.
            long again = Allocated(input);
            Assert.True(again <= most, $"{again} bytes for {input.Length} of input");
        }
    }

    public virtual void Dispose()
    {
        Pool.Dispose();
        GC.SuppressFinalize(this);
    }

    protected abstract void Try(byte[] input);

    /// <summary>A result that counts as an edge: of code that is not instrumented.</summary>
    protected void Reached(int result) => _coverage?.Mark(result);

    /// <summary>Pieces of lengths that depend on the bytes alone, so that a saved input is cut each time as it was.</summary>
    protected static List<byte[]> Cut(byte[] bytes)
    {
        var random = new Random((int)Hash(bytes));
        int longest = random.Next(4) switch { 0 => 1, 1 => 9, _ => Math.Max(2, bytes.Length) };
        longest = Math.Max(longest, bytes.Length / 200); // A long input of single bytes takes too long.
        List<byte[]> pieces = [];
        for (int at = 0, length; at < bytes.Length; at += length)
        {
            length = Math.Min(random.Next(1, longest + 1), bytes.Length - at);
            pieces.Add(bytes[at..(at + length)]);
        }

        return pieces;
    }

    /// <summary>A long input from a short one: F7 and n stand for 64 n bytes of the letter x.</summary>
    protected static byte[] Expand(ReadOnlySpan<byte> input)
    {
        const int Repeat = 64;
        const int MaxLength = 128 * 1024;
        var bytes = new List<byte>(input.Length);
        for (int at = 0; at < input.Length; at++)
        {
            bool repeats = input[at] == 0xF7 && at + 1 < input.Length && bytes.Count < MaxLength;
            bytes.AddRange(repeats ? Enumerable.Repeat((byte)'x', input[++at] * Repeat) : [input[at]]);
        }

        return [.. bytes];
    }

    /// <summary>Frames of an input: the length, then the bytes. The length FF stands for 256.</summary>
    protected static byte[][] Frames(ReadOnlySpan<byte> input)
    {
        List<byte[]> frames = [];
        while (!input.IsEmpty)
        {
            int length = Math.Min(input[0] == 0xFF ? 256 : input[0], input.Length - 1);
            frames.Add(input.Slice(1, length).ToArray());
            input = input[(1 + length)..];
        }

        return [.. frames];
    }

    /// <summary>The input that <see cref="Frames"/> cuts into these.</summary>
    protected static byte[] Framed(params byte[][] frames) =>
        [.. frames.SelectMany(static frame => (byte[])[(byte)Math.Min(frame.Length, 255), .. frame])];

    protected static byte[] Utf8(string text) => Encoding.UTF8.GetBytes(text);

    /// <summary>Short bytes in full, long ones by length and hash.</summary>
    protected static string Show(ReadOnlySpan<byte> bytes) =>
        bytes.Length <= 64 ? Convert.ToHexString(bytes) : $"{bytes.Length} bytes {Hash(bytes):X8}";

    private long Allocated(byte[] input)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        Try(input);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static uint Hash(ReadOnlySpan<byte> bytes)
    {
        uint hash = 2166136261;
        foreach (byte one in bytes)
        {
            hash = (hash ^ one) * 16777619;
        }

        return hash;
    }
}
