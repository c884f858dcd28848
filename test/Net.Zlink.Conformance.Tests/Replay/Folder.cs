using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Expecting;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Replay.Severing;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay;

/// <summary>A folder of transcripts, and how one of its files is played.</summary>
internal static class Folder
{
    /// <summary>Names another folder than the project's own.</summary>
    public const string Variable = "ZLINK_TRANSCRIPTS";

    /// <summary>Severed runs mostly wait: for the kernel to acknowledge, some 5 ms each, and for the pool's barriers, which all that wait
    /// share. All files took 61 s with 8 at once, 45 with 32, 43 with 64.</summary>
    private const int SeveredAtOnce = 32;

    /// <summary>True when the folder is the project's own, for which every expectation must be of use.</summary>
    public static bool IsOwn => string.IsNullOrEmpty(Environment.GetEnvironmentVariable(Variable));

    public static string Location => IsOwn ? Path.Combine(AppContext.BaseDirectory, "Transcripts")
        : Environment.GetEnvironmentVariable(Variable)!;

    public static IReadOnlyList<string> Files() =>
        [.. Directory.EnumerateFiles(Location, "*.json").Select(path => Path.GetFileNameWithoutExtension(path))
        .Order(StringComparer.Ordinal)];

    public static string PathOf(string file) => Path.Combine(Location, file + ".json");

    public static ExpectationFile Expectations() => ExpectationFile.Read(Path.Combine(AppContext.BaseDirectory, "Expectations.json"));

    /// <summary>False for severed where the played sides send nothing. A file that can't be read is of use: it must fail.</summary>
    public static bool IsOfUse(string file, Variant variant)
    {
        try
        {
            return variant is not Variant.Severed
                || TranscriptReader.ReadFile(PathOf(file))
                    .Any(transcript => transcript.Sides.Values.Any(
                    side => !side.IsRaw && SeveredRuns.Of(transcript, side.Name, Sampling.Some).Count > 0));
        }
        catch (Exception fault) when (fault is TranscriptFormatException or NotSupportedYetException)
        {
            return true;
        }
    }

    /// <summary>Plays a file in a variant: every native side of it in turn is the implementation's.</summary>
    /// <returns>How many runs that were.</returns>
    public static async Task<int> PlayAsync(string path, Variant variant, ExpectationFile expectations, IReadOnlyDictionary<string,
        SideAdapter> adapters, TimeSpan guard)
    {
        int runs = 0;
        foreach (Transcript recorded in TranscriptReader.ReadFile(path))
        {
            Transcript transcript = expectations.Apply(recorded);
            foreach (Side side in transcript.Sides.Values.Where(side => !side.IsRaw))
            {
                runs += await PlaySideAsync(transcript, side, variant, adapters, guard);
            }
        }

        return runs;
    }

    public static async Task<int> PlaySideAsync(
        Transcript transcript, Side side, Variant variant, IReadOnlyDictionary<string, SideAdapter> adapters, TimeSpan guard)
    {
        if (!adapters.TryGetValue(side.Type, out SideAdapter? adapter))
        {
            throw new NotSupportedYetException($"socket type {side.Type} (side {side.Name} of {transcript.Name})");
        }

        ReplayOptions[] runs = variant is Variant.Severed
            ? [.. SeveredRuns.Of(transcript, side.Name, Sampling.Default).Select(cut => new ReplayOptions(variant, guard) { Cut = cut })]
            : [new ReplayOptions(variant, guard)];
        IEnumerable<ReplayOptions> fresh = runs.Where(
            options => options.Cut is not { } cut || adapter.Severed.TryAdd(SeveredRuns.Fingerprint(transcript, side, cut), true));
        await Parallel.ForEachAsync(fresh, new ParallelOptions { MaxDegreeOfParallelism = SeveredAtOnce }, async (options, _) =>
        {
            try
            {
                await ReplayRun.PlayAsync(transcript, side.Name, adapter, options);
            }
            catch (ReplayFailedException fault)
            {
                string cut = options.Cut is { } at ? $", cut behind byte {at.Bytes} of connection {at.Connection}" : string.Empty;
                throw new ReplayFailedException($"{transcript.Name}, side {side.Name}, {variant}{cut}: {fault.Message}");
            }
        });
        if (transcript.Undecided is { } undecided)
        {
            // The cuts before it were all right.
            throw new ReplayFailedException($"{transcript.Name}, side {side.Name}, {variant}: {ReplayRun.Words(undecided)}");
        }

        return runs.Length;
    }
}
