using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Live;

/// <summary>Where a run is shown while it goes on.</summary>
internal interface ILiveView
{
    void Show(string title, LoadProgress? load, ProcessSample? server);

    /// <summary>A round is over.</summary>
    void ShowRound(Round round);

    /// <summary>Something to be seen whatever is shown.</summary>
    void Warn(string text);
}
