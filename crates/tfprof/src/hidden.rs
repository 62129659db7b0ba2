//! Lines that are not shown because of least figures that nobody chose.
//!
//! All least figures are 0 unless they are set, and so they hide what is negative. TensorFlow 1 before 1.4 wrote
//! negative bytes for ops that free what others allocated, which are those that work most.

use super::metrics::{Metric, Metrics, clock};
use super::options::{NAMES, Options};

/// Figures that are compared with [`Options::min`], in its order.
pub type Compared = [i64; 10];

/// The figures of [`Compared`] but the last one, which the views count differently.
pub const METRICS: [Metric; 9] = [
    Metric::Requested,
    Metric::Peak,
    Metric::Residual,
    Metric::Output,
    Metric::Micros,
    Metric::AcceleratorMicros,
    Metric::CpuMicros,
    Metric::Params,
    Metric::Flops,
];

/// What is hidden by least figures of 0 alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hidden {
    lines: u64,
    /// The least of each figure among the hidden lines; 0 where it hides none.
    least: Compared,
    /// The one that takes most time of its own.
    heaviest: Option<(i64, String)>,
}

impl Hidden {
    /// Whether a line's figures are large enough. Remembers it when they are not and only a default says so.
    pub fn judge(&mut self, name: &str, figures: &Compared, own: &Metrics, min: &Compared) -> bool {
        let low = || (0..min.len()).filter(|place| figures[*place] < min[*place]);
        if low().next().is_none() {
            return true;
        }
        if low().all(|place| min[place] == 0) {
            self.lines += 1;
            for place in low() {
                self.least[place] = self.least[place].min(figures[place]);
            }
            let micros = own.get(Metric::Micros);
            if self.heaviest.as_ref().is_none_or(|(most, _)| micros > *most) {
                self.heaviest = Some((micros, name.to_owned()));
            }
        }
        false
    }

    /// Adds what a reader should know.
    pub fn warn(&self, options: &Options, warnings: &mut Vec<String>) {
        warnings.extend(self.sentence(options));
    }

    /// What a reader should know; nothing where nothing is hidden.
    pub fn sentence(&self, options: &Options) -> Option<String> {
        let (micros, name) = self.heaviest.as_ref()?;
        let hiding = (0..self.least.len()).filter(|place| self.least[*place] < 0);
        let (names, shown): (Vec<_>, Vec<_>) = hiding
            .map(|place| {
                let (name, least) = (NAMES[place + 1], self.least[place]);
                // Least times are typed in microseconds.
                let typed = match METRICS.get(place) {
                    Some(Metric::Micros | Metric::AcceleratorMicros | Metric::CpuMicros) => {
                        least.div_euclid(options.ticks.max(1))
                    }
                    _ => least,
                };
                (format!("{name} 0"), format!("{name}={typed}"))
            })
            .unzip();
        let (lines, verb) = match self.lines {
            1 => ("1 line".to_owned(), "has"),
            many => (format!("{many} lines"), "have"),
        };
        let heaviest = match *micros > 0 {
            true => format!("; the one that takes longest is {name}, {}", clock(*micros, options.ticks)),
            false => String::new(),
        };
        Some(format!(
            "{}, the default, hides {lines} that {verb} negative figures, as TensorFlow's first versions wrote \
             them{heaviest}. {} shows all",
            names.join(" and "),
            shown.join(" ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_defaults_hide_is_told() {
        let options = Options::default();
        let mut hidden = Hidden::default();
        let mut own = Metrics::default();
        own.set(Metric::Micros, 1500);
        let figures = [5, 0, -7, 0, 1500, 0, 1500, 0, 0, 1];
        assert!(!hidden.judge("Conv2D", &figures, &own, &options.min));
        assert!(hidden.judge("Add", &[1; 10], &own, &options.min));
        let mut warnings = Vec::new();
        hidden.warn(&options, &mut warnings);
        assert_eq!(
            warnings,
            [
                "-min_residual_bytes 0, the default, hides 1 line that has negative figures, as TensorFlow's first \
                 versions wrote them; the one that takes longest is Conv2D, 1.50ms. -min_residual_bytes=-7 shows all"
            ]
        );
        let mut chosen = Hidden::default();
        let mut least = options.min;
        least[0] = 6;
        assert!(!chosen.judge("Conv2D", &figures, &own, &least));
        assert_eq!(chosen, Hidden::default());
    }
}
