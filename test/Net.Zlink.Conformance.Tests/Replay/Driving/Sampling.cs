using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>
/// Behind which bytes of the played side's a conversation is cut, and which bytes of a long run are sent one by one:
/// few by default, more with <see cref="SlowTests"/>, all with <see cref="Variable"/>, which takes minutes a file.
/// </summary>
internal sealed class Sampling
{
    /// <summary>Set to anything, it turns the sampling off.</summary>
    public const string Variable = "ZLINK_EVERY_BYTE";

    /// <summary>Every byte, however long it takes.</summary>
    public static readonly Sampling None = new(isNone: true);

    /// <summary>Some of the bytes of a long run.</summary>
    public static readonly Sampling Some = new(isNone: false);

    /// <summary>As <see cref="Some"/>, with every third cut.</summary>
    public static readonly Sampling Many = new(isNone: false, cutEvery: 3);

    /// <summary>As <see cref="Some"/>, with every eighth cut.</summary>
    public static readonly Sampling Few = new(isNone: false, cutEvery: 8);

    /// <summary>
    /// split: of a big run of bytes the first and last 64 are each waited for until they were read; in between, every byte is still a write
    /// of its own,
    /// and every 1,024th is waited for.
    /// </summary>
    private const int WatchedEvery = 1024;

    /// <summary>
    /// severed: records up to this size are cut behind every byte. Of bigger ones, the first and last 64 bytes (the header, the end) and 64
    /// places in between that a
    /// fixed seed chooses.
    /// </summary>
    private const int CutEverywhere = 1024;
    private const int Cuts = 64;
    private const int Seed = 20_251;

    /// <summary>At either end of a long run nothing is left out: there are the headers.</summary>
    private const int Edge = 64;

    private readonly bool _isNone;
    private readonly int _cutEvery;

    private Sampling(bool isNone, int cutEvery = 1) => (_isNone, _cutEvery) = (isNone, cutEvery);

    /// <summary>As the environment says.</summary>
    public static Sampling Default => !string.IsNullOrEmpty(Environment.GetEnvironmentVariable(Variable)) ? None : SlowTests.AreOn ? Many
        : Few;

    /// <summary>split: true if this byte of a run, counted from 0, is read before the next goes out.</summary>
    public bool IsWaitedFor(int at, int length) => _isNone || at < Edge || at >= length - Edge || at % WatchedEvery == 0;

    /// <summary>severed: numbers of the bytes, from 1, behind which a run of that length is cut.</summary>
    public IEnumerable<int> Places(int length) => AllPlaces(length).Where((place, at) => at % _cutEvery == 0 || place == length);

    private IEnumerable<int> AllPlaces(int length)
    {
        if (_isNone || length <= CutEverywhere)
        {
            return Enumerable.Range(1, length);
        }

        var random = new Random(Seed);
        IEnumerable<int> sample = Enumerable.Range(0, Cuts).Select(_ => random.Next(Edge + 1, length - Edge + 1));
        return Enumerable.Range(1, Edge).Concat(sample.Order()).Concat(Enumerable.Range(length - Edge + 1, Edge));
    }
}
